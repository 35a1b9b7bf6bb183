"""Names of devices, taken apart and put together; TensorFlow 2.21 was asked for each answer."""

import pytest

from intaglio import tf


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("/cpu:0", "/device:CPU:0"),
        ("/job:w/task:3/GPU:*", "/job:w/task:3/device:GPU:*"),
        ("/job:a/replica:2/task:1/device:GPU:7", "/job:a/replica:2/task:1/device:GPU:7"),
        ("", ""),
    ],
)
def test_reads_and_writes_names(given, wanted):
    assert tf.DeviceSpec.from_string(given).to_string() == wanted


@pytest.mark.parametrize(
    ("given", "phrase"),
    [("/job:a/foo:b", "Unknown attribute 'foo'"), ("/gpu:1/cpu:0", "Multiple device types")],
)
def test_refuses_what_is_no_name(given, phrase):
    with pytest.raises(ValueError, match=phrase):
        tf.DeviceSpec.from_string(given)


def test_merging_prefers_the_fields_of_the_other():
    merged = tf.DeviceSpec(job="a", task=1).make_merged_spec(tf.DeviceSpec(job="b"))
    assert merged == tf.DeviceSpec(job="b", task=1)
    assert merged.replace(task=2) != merged
