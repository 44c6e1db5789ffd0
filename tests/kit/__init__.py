"""What tests of several layers build on."""
