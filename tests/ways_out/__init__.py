"""Ways out taken literally: random clusters with controllers and competing pods on a real control plane with kwok."""
