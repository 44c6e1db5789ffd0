"""Random whole clusters with pending pods, as users write them: what the default profile's plugins look at, mixed."""
