"""A click command per file, or a folder of several files per command: options to report to output, no decisions."""
