"""What the program costs, beside what others need for the same: ``python -m bench`` measures all of it."""
