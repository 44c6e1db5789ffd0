"""What goes wrong between us and an API server, made to happen on purpose: requests, watches, writes, terminals."""
