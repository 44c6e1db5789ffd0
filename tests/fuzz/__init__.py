"""A small seeded mutator over real objects, expressions and words: ``python -m tests.fuzz --help``."""
