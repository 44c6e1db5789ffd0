"""Claims as people see them: what they ask for, where they stand, what they hold."""
