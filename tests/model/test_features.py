"""Feature gates: defaults per version, locks, dependencies, and which allocator they choose."""

import pytest

from kubectl_dra.model.features import FeatureError, features, parse_gates


def test_defaults_choose_the_real_implementation():
    assert features(37).implementation == "incubating"
    assert features(36).implementation == "incubating"
    assert features(34).implementation == "stable"
    assert features(37, {"DRAListTypeAttributes": True}).implementation == "experimental"
    assert features(37, {"DRADeviceCompatibilityGroups": True}).implementation == "experimental"


def test_fractional_ranges_are_off_by_default():
    assert not features(37).fractional_capacity_range
    assert features(37, {"DRAFractionalCapacityRange": True}).fractional_capacity_range


def test_taint_rules_follow_device_taints_before_they_had_their_own_gate():
    assert features(34, {"DRADeviceTaints": True}).device_taint_rules
    assert not features(35, {"DRADeviceTaints": True}).device_taint_rules
    assert not features(37, {"DRADeviceTaints": False}).device_taint_rules


def test_order_is_predictable_since_1_36():
    assert features(36).deterministic
    assert not features(35).deterministic


@pytest.mark.parametrize(
    ("minor", "gates"),
    [
        (37, {"DRAAdminAccess": False}),
        (33, {"DRAConsumableCapacity": True}),
        (37, {"DRADeviceTaints": False, "DRADeviceTaintRules": True}),
    ],
)
def test_impossible_gates_are_refused(minor, gates):
    with pytest.raises(FeatureError):
        features(minor, gates)


def test_gates_are_written_as_for_the_components():
    assert parse_gates(["DRADeviceTaints=false,DRAListTypeAttributes=true"]) == {
        "DRADeviceTaints": False,
        "DRAListTypeAttributes": True,
    }
    for text in ("Nope=true", "DRADeviceTaints", "DRADeviceTaints=maybe"):
        with pytest.raises(FeatureError):
            parse_gates([text])


def test_gates_of_a_whole_stage():
    assert features(37, {"AllAlpha": True}).derived_attributes
    assert not features(37, {"AllAlpha": True, "DRADerivedAttributes": False}).derived_attributes
    assert features(37, {"AllBeta": True}).fractional_capacity_range
    assert not features(37, {"AllBeta": False}).consumable_capacity


def test_gates_without_influence_on_devices_are_known():
    gates = parse_gates(["AllAlpha=false,DRAResourcePoolStatus=true,SchedulerPreQueueingHints=true"])
    assert features(37, gates) == features(37)


def test_controllers_are_on_in_1_31_unless_said_otherwise():
    """A server with the gate off drops the field, so whoever sees it has the gate on."""
    assert features(31).control_plane_controller
    assert not features(31, parse_gates(["DRAControlPlaneController=false"])).control_plane_controller
    with pytest.raises(FeatureError):
        features(32, parse_gates(["DRAControlPlaneController=true"]))


def test_words_of_schedulers_change_with_their_version():
    assert features(33).names_untolerated_taint and not features(34).names_untolerated_taint
    assert features(36).tells_idle_post_filter and not features(37).tells_idle_post_filter
    assert features(32).counts_preselection and not features(31).counts_preselection
