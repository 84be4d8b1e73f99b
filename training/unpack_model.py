"""Weights to train on from, read out of a packaged model: `python -m training.unpack_model OUT`.

Trained weights are not kept: they would be four times the size of the package. What int8 lost is less than
a point of accuracy and comes back with the first steps. Embeddings are never trained, so they are the base's.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from training.calibrate import PACKAGE
from training.network import SentimentNetwork


def main() -> None:
    """Write the weights of a packaged model as training keeps them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", type=Path, default=PACKAGE / "model.onnx")
    chosen = parser.parse_args()
    torch.save(unpack(onnx.load(chosen.model)).state_dict(), chosen.out)


def unpack(model: onnx.ModelProto) -> SentimentNetwork:
    """Return the network that a model was exported from, but for what quantization lost.

    Raises:
        ValueError: if the model lacks a weight, so is not one of ours.
    """
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    network = SentimentNetwork()
    found = {name: constants[name] for name in network.state_dict() if name in constants}
    for node in model.graph.node:
        if node.op_type in {"MatMulInteger", "MatMulIntegerToFloat"} and node.input[1] in constants:
            place = re.search(r"(target_layers|layer)(\.\d+/.+)(?=/MatMul)", node.name)
            head = "target_head" if "target_head" in node.name else "head"
            layers = {"layer": "encoder.encoder.layer", "target_layers": "target_layers"}
            name = f"{layers[place[1]]}{place[2].replace('/', '.')}.weight" if place else f"{head}.weight"
            found[name] = _floats(constants, node.input[1].removesuffix("_quantized")).T
    missing = [
        name
        for name, parameter in network.named_parameters()
        if name not in found and ".embeddings." not in name and ".pooler." not in name
    ]
    if missing:
        raise ValueError(f"the model has no {missing[0]}: it was not written by training.export_model")
    weights = {name: torch.tensor(np.ascontiguousarray(values)) for name, values in found.items()}
    network.load_state_dict(network.state_dict() | weights)
    return network


def _floats(constants: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Undo the quantization of a matrix whose columns each have a scale."""
    whole = constants[f"{name}_quantized"].astype(np.float32)
    restored: np.ndarray = (whole - constants[f"{name}_zero_point"]) * constants[f"{name}_scale"]
    return restored


if __name__ == "__main__":
    main()
