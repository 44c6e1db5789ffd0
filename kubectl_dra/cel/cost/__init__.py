"""Estimated costs, which the API server bounds; run-time costs are charged where values are computed."""
