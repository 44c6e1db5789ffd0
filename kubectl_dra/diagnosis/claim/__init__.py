"""The state of a claim: its verdict, for whom it holds devices, and whether they still exist."""
