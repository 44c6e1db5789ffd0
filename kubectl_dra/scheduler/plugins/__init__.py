"""The plugins of the default profile, one module each, named as upstream."""
