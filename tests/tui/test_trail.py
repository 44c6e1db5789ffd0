"""The views that were seen, backwards and forwards."""

from kubectl_dra.tui.trail import Trail

FIRST, SECOND, THIRD, GONE = ("1", "overview"), ("3", "claims"), ("4", "classes"), ("3", "claim")


def seen(*places):
    trail = Trail()
    for place in places:
        trail.saw(place)
    return trail


def test_a_step_back_leads_to_another_view_where_what_lay_between_has_closed():
    trail = seen(FIRST, SECOND, GONE)
    trail.forget(["claim"])
    trail.saw(SECOND)
    assert trail.move(-1) == FIRST
    assert trail.move(-1) is None


def test_what_lies_ahead_stays_where_another_view_closes_and_goes_with_the_one_in_front():
    trail = seen(GONE, FIRST, SECOND, THIRD)
    assert [trail.move(-1), trail.move(-1)] == [SECOND, FIRST]
    trail.forget(["claim"])
    assert trail.move(1) == SECOND
    trail.saw(SECOND)
    trail.forget(["claims"])
    trail.saw(FIRST)
    assert trail.move(1) is None
    assert trail.move(-1) is None
