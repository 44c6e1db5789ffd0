"""Text to tree and back: tokens, the parser with its macros and limits, the printer."""
