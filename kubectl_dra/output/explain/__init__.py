"""The pages of the reasons: docs/reasons, which an installed program carries with it."""
