"""What lint says: for people, for code scanning (SARIF), and as annotations of GitHub."""
