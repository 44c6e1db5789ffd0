"""Every declared function can be carried out, and nothing is implemented that is not declared."""

import subprocess
import sys
from importlib import import_module

from kubectl_dra.cel.declarations import FUNCTIONS
from kubectl_dra.cel.declarations.extensions import AUTHORIZATION
from kubectl_dra.cel.functions.registry import LIBRARIES, OPERATORS, implementation

# These are compiled to steps of their own.
COMPILED = {
    *("_&&_", "_||_", "_?_:_", "_==_", "_!=_", "_[_]", "_[?_]", "_?._", "@not_strictly_false", "or", "orValue"),
    *("_in_", "in", "__not_strictly_false__"),
}


def test_every_declared_overload_has_an_implementation():
    for function, overloads in FUNCTIONS.items():
        if function in COMPILED or function in OPERATORS or function in AUTHORIZATION:
            continue
        for overload in overloads:
            assert implementation(overload.id) is not None, overload.id


def test_every_implementation_is_declared_once():
    declared = {overload.id for overloads in FUNCTIONS.values() for overload in overloads}
    implemented = [
        overload
        for library in LIBRARIES
        for overload in import_module(f"kubectl_dra.cel.functions.{library}").OVERLOADS
    ]
    assert len(implemented) == len(set(implemented))
    assert set(implemented) <= declared


def test_libraries_that_an_expression_does_not_use_are_not_loaded():
    program = """
import sys
from kubectl_dra.cel import SCHEDULER, compile_expression
compile_expression('device.driver == "a" && device.capacity["a"].b.compareTo(quantity("1")) > 0', SCHEDULER)
print([name for name in ("re2", "celpy", "lark", "zoneinfo", "kubectl_dra.cel.functions.urls") if name in sys.modules])
"""
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    assert loaded.stdout.strip() == "[]"
