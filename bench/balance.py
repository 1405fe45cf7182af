"""The sums of `partita::balance` beside those of exact solvers, on problems of 3,000 rows and 20 clusters.

    cargo bench -p partita --bench balance -- "$PWD/FOLDER" > FOLDER/partita.txt
    python bench/balance.py FOLDER

The folder must exist; cargo runs the bench in crates/partita and so needs its whole path. Needs numpy, scipy and ortools. Equal sizes are also given to scipy's `linear_sum_assignment`, one
column for each seat; OR-tools' `SimpleMinCostFlow` takes whole costs, so scores are rounded to 1e-9 for it.
"""

import sys
import time
from pathlib import Path

import numpy as np
from ortools.graph.python import min_cost_flow
from scipy.optimize import linear_sum_assignment

K = 20
UNIT = 1e9


def by_flow(scores, lower, upper):
    """Rows, clusters, one sink: the flow from a cluster is its size. Demands carry the lower bounds."""
    n = len(scores)
    solver = min_cost_flow.SimpleMinCostFlow()
    rows, clusters = np.repeat(np.arange(n), K), n + np.tile(np.arange(K), n)
    costs = np.round(-scores.astype(np.float64) * UNIT).astype(np.int64).ravel()
    arcs = solver.add_arcs_with_capacity_and_unit_cost(rows, clusters, np.ones(n * K, np.int64), costs)
    nodes = n + np.arange(K)
    solver.add_arcs_with_capacity_and_unit_cost(nodes, np.full(K, n + K), upper - lower, np.zeros(K, np.int64))
    solver.set_nodes_supplies(np.arange(n), np.ones(n, np.int64))
    solver.set_nodes_supplies(nodes, -lower)
    solver.set_node_supply(n + K, -(n - int(lower.sum())))
    assert solver.solve() == solver.OPTIMAL
    labels = solver.flows(arcs).reshape(n, K).argmax(axis=1)
    return scores[np.arange(n), labels].sum(dtype=np.float64)


def by_seats(scores, sizes):
    """A square assignment problem with one column for each seat."""
    seats = np.repeat(np.arange(K), sizes)
    rows, columns = linear_sum_assignment(scores[:, seats].astype(np.float64), maximize=True)
    return scores[rows, seats[columns]].sum(dtype=np.float64)


def timed(solve, *arguments):
    start = time.perf_counter()
    return solve(*arguments), time.perf_counter() - start


def main(folder):
    print("| problem | solver | sum of scores | difference | seconds |\n|---|---|---|---|---|")
    for line in (folder / "partita.txt").read_text().splitlines():
        name, kind, total, gap, seconds = line.split()
        scores = np.fromfile(folder / f"{name}.f32", np.float32).reshape(-1, K)
        lower, upper = np.fromfile(folder / f"{name}-{kind}.u64", np.uint64).astype(np.int64).reshape(2, K)
        print(f"| {name}, {kind} | partita, gap {gap} | {float(total):.6f} | | {float(seconds):.4f} |")
        peers = [("OR-tools flow", *timed(by_flow, scores, lower, upper))]
        if kind == "equal":
            peers.append(("scipy assignment", *timed(by_seats, scores, lower)))
        for peer, best, seconds in peers:
            print(f"| {name}, {kind} | {peer} | {best:.6f} | {float(total) - best:.1e} | {seconds:.2f} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
