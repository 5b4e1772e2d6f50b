"""A process that holds a Ray cluster of two nodes with one CPU each, so that a test can lose one of them.

It prints the cluster's address and the process id of the second node. A line "lose" kills that node, "join" adds a new
one and is answered by its process id. It ends with its input.
"""

import sys

from ray.cluster_utils import Cluster


def main() -> None:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        second = joined(cluster)
        print(cluster.address, raylet(second), flush=True)
        for line in sys.stdin:
            if line.strip() == "lose":
                cluster.remove_node(second, allow_graceful=False)
                print("lost", flush=True)
            else:
                second = joined(cluster)
                print(raylet(second), flush=True)
    finally:
        cluster.shutdown()


def joined(cluster):
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    return node


def raylet(node):
    """The process that is the parent of a node's workers."""
    return node.all_processes["raylet"][0].process.pid


if __name__ == "__main__":
    main()
