"""One click command per file: options to report to output. Nothing here decides or computes anything."""
