"""test-selector: what the API server and the scheduler make of selectors, tried on the devices of an Inventory.

``questions`` turns an expression or manifests into what is asked, ``selector_report`` answers one question on the
devices of a ``Setting``. Verdicts, outcomes per device and corrections are those of ``kubectl_dra.selectors``,
real searches that fail in ``searches``.
"""

from kubectl_dra.reports.selector.build import KINDS, selector_report
from kubectl_dra.reports.selector.questions import Question, expression_question, manifest_questions
from kubectl_dra.reports.selector.records import SelectorReport, is_bad
from kubectl_dra.reports.selector.scoping import Setting, Where
