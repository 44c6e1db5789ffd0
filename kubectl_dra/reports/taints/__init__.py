"""Taints of devices and the rules that make them: lists, plans, and whom they hit."""
