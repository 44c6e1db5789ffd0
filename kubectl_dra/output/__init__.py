"""Words for people, tables, colours, JSON and YAML, exit codes; the only writer to stdout and stderr.

No decisions and no access to clusters. Text reaches a terminal only as :class:`~kubectl_dra.output.safe.Safe`.
"""
