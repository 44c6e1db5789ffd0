"""Small clusters at the edges of the scheduler's rules, and what the real scheduler answered to each."""
