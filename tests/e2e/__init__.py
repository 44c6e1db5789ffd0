"""End to end: real pending pods of a real control plane, explained by the plugin as the real kubectl runs it."""
