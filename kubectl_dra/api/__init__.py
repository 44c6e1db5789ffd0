"""The API's bytes and the model's records: kinds, decoding of each generation, encoding, server-side defaulting.

No decisions about clusters, no I/O, no wording beyond what is wrong with an object and where.
"""
