"""The live source against a server that misbehaves on purpose, and against a real one."""
