"""Who holds most, as people read it."""
