"""tf-agents: a DQN agent on a small environment: specs, a policy's step, a training step."""

import numpy as np
import tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.networks import sequential
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.trajectories import trajectory

tf.random.set_seed(1)
observation = tensor_spec.TensorSpec([3], tf.float32)
action = tensor_spec.BoundedTensorSpec([], tf.int32, 0, 1)
steps = ts.time_step_spec(observation)
dense = tf.keras.layers.Dense(2, kernel_initializer="ones", bias_initializer="zeros")
agent = dqn_agent.DqnAgent(
    steps, action, q_network=sequential.Sequential([dense]), optimizer=tf.keras.optimizers.SGD(0.1)
)
agent.initialize()
step = ts.restart(tf.constant([[1.0, 2.0, 3.0]]), batch_size=1)
print("action", agent.policy.action(step).action.numpy().tolist())
experience = trajectory.boundary(
    observation=tf.ones([2, 2, 3]),
    action=tf.zeros([2, 2], tf.int32),
    policy_info=(),
    reward=tf.ones([2, 2]),
    discount=tf.ones([2, 2]),
)
experience = experience.replace(
    step_type=tf.ones([2, 2], tf.int32), next_step_type=tf.ones([2, 2], tf.int32)
)
print("loss", round(float(agent.train(experience).loss), 4))
print("kernel", np.round(dense.kernel, 4).tolist())
