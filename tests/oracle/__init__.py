"""The real Go code as a referee: small programs that answer questions line by line."""
