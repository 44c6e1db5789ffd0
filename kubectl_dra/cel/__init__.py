"""The CEL of device selectors: compile an expression once, evaluate it on many devices.

``compile_expression(text, environment)`` gives a :class:`Program`, ``device_value(driver, device)`` what it is
evaluated on.
"""

from kubectl_dra.cel.check.environment import NAMED_RESOURCES, SCHEDULER, Environment
from kubectl_dra.cel.check.errors import CompileError
from kubectl_dra.cel.run.device import device_value
from kubectl_dra.cel.run.instance import InstanceValue
from kubectl_dra.cel.run.program import COST_LIMIT, EvaluationError, Program, compile_expression
