"""Strangers' manifests: rebuilt shapes of public projects, each with its verdict and who confirmed it."""
