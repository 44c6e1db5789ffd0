"""The views that were seen, backwards and forwards."""

from kubectl_dra.tui.trail import Trail


def test_a_step_back_leads_to_another_view_where_what_lay_between_has_closed():
    trail, first, second, gone = Trail(), ("1", "overview"), ("3", "claims"), ("3", "claim")
    for place in (first, second, gone, second):
        trail.saw(place)
    assert trail.move(-1, lambda place: place != gone) == first
