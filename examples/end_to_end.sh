#!/bin/sh
# From images to two audits, on a CPU: votes of PATE teachers with a bound on what they leak, and answers of shadow
# models with an attack on them. Each audit ends with a page for a browser.
#
#   cargo xtask libtorch
#   cargo build --release --features torch
#   cargo xtask data fashion-mnist            # prints the folder
#   examples/end_to_end.sh FOLDER [RESULTS]
#
# The program is target/release/leakbound, or what LEAKBOUND says. FOLDER may hold any images that `leakbound torch`
# reads. RESULTS (default: end_to_end) gets votes.npz, votes.html, shadow.npz and lira.html. All of it takes about two
# minutes of one core.
set -eu

data=${1:?"usage: $0 FOLDER [RESULTS]"}
results=${2:-end_to_end}
leakbound=${LEAKBOUND:-target/release/leakbound}
mkdir -p "$results"

# 50 teachers with 240 images each, twice with another random partition, and teachers that met one more point: queries
# that an adversary chose, with their own label or with a wrong one.
"$leakbound" torch teachers --data "$data" --recording "$results/votes.npz" --device cpu --teachers 50 --images 240 \
    --instantiations 2 --queries 200 --adversarial 4 --retrainings 10

# The votes with noise of standard deviation 8, when the adversary mislabels the queries of his choice: lower bounds
# from samples beside the exact loss and the accountants' upper bounds.
"$leakbound" audit votes "$results/votes.npz" --model pate --adversary pois-advq --noise gaussian:8 --samples 1e6 \
    --report "$results/votes.html"

# 16 networks with 1,000 images in common; each of 500 others, wrongly labeled, is in half of the networks.
"$leakbound" torch shadow --data "$data" --recording "$results/shadow.npz" --device cpu --models 16 --fixed 1000 \
    --hidden 96 --epochs 30 --canaries mislabeled

# The likelihood ratio attack, each network being the victim once: how many of the trained canaries are found at a rate
# of false alarms of 0.1 %.
"$leakbound" membership lira "$results/shadow.npz" --report "$results/lira.html"
