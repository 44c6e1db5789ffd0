"""What the API server refuses when an object of resource.k8s.io/v1 is created: one module per part of an object.

``kubectl_dra.api.validate`` is the way in. Upstream: pkg/apis/resource/validation of 1.37 and the declarative rules
of k8s.io/api/resource/v1. The texts are the server's; where both check the same, it shows the declarative ones.
"""
