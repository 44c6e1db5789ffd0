"""Random questions to the real Go code and to ours, shrunk to the smallest one on which they differ."""
