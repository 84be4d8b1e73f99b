"""Turn trained weights into the packaged model: `python -m training.export_model WEIGHTS`.

Writes an int8 ONNX graph and the tokenizer into the sentiment layer, fits the temperature on the
development sets, and pins the files by their SHA-256 in the domain package.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from training.calibrate import PACKAGE, PIN, fit_temperature
from training.corpora import training
from training.network import SentimentNetwork, base, encode, tokenizer

CALIBRATION_TEXTS = 600
OUTLIERS = 1
"""Percentage of texts that may exceed a range at each end; they are clipped."""


def main() -> None:
    """Export, quantize, and pin."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--version", default="1")
    parser.add_argument("--out", type=Path, default=PACKAGE)
    parser.add_argument("--pin", type=Path, default=PIN)
    parser.add_argument("--companion", type=float, default=0.5, help="weight of the n-grams' opinion")
    parser.add_argument("--temperature", type=float, help="fitted on the development sets unless given")
    chosen = parser.parse_args()

    network = SentimentNetwork()
    network.load_state_dict(torch.load(chosen.weights, weights_only=True))
    network.eval()
    chosen.out.mkdir(parents=True, exist_ok=True)
    export(network, chosen.out / "model.onnx")
    write_tokenizer(chosen.out / "tokenizer.json")
    pin = {
        "name": "minilm-l6",
        "version": chosen.version,
        "files": {
            name: hashlib.sha256((chosen.out / name).read_bytes()).hexdigest()
            for name in ("model.onnx", "tokenizer.json")
        },
        "temperature": chosen.temperature or 1.0,
        "companion": chosen.companion,
    }
    chosen.pin.write_text(json.dumps(pin, indent=2) + "\n", "utf-8")
    if chosen.temperature is None:
        pin["temperature"] = fit_temperature(chosen.out, pin)
        chosen.pin.write_text(json.dumps(pin, indent=2) + "\n", "utf-8")
    print(json.dumps(pin, indent=2))


def export(network: SentimentNetwork, out: Path) -> None:
    """Write the graph with its large weights in int8, one scale for each output channel.

    Seven bits are used: processors without VNNI add pairs of products in 16 bits, which overflow
    with eight, so that the same text would get another label there.

    What flows between the layers is quantized by ranges fixed here. Left to be measured while
    labelling, a range would be that of the whole batch, and a text's label would depend on the
    texts beside it.
    """
    network.encoder.set_attn_implementation("eager")
    network.eval()
    with tempfile.TemporaryDirectory() as folder:
        full, measured = Path(folder) / "full.onnx", Path(folder) / "measured.onnx"
        ids = torch.tensor([[101, 2023, 102], [101, 2003, 102]])
        torch.onnx.export(
            network,
            (ids, torch.ones_like(ids)),
            full,
            input_names=["input_ids", "attention_mask"],
            output_names=["logits"],
            dynamic_axes={
                "input_ids": {0: "texts", 1: "tokens"},
                "attention_mask": {0: "texts", 1: "tokens"},
                "logits": {0: "texts"},
            },
            opset_version=17,
            dynamo=False,
        )
        quantize_dynamic(full, measured, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8)
        graph = onnx.load(measured)
    _fix_ranges(graph, encode([example.text for example in training(0)[:CALIBRATION_TEXTS]], tokenizer()))
    _fuse_products(graph)
    graph.doc_string = "sourcebook sentiment: logits of negative, neutral, positive"
    graph.producer_name = "sourcebook"
    onnx.save(graph, out)


def _fix_ranges(model: onnx.ModelProto, texts: list[list[int]]) -> None:
    """Replace each measured quantization by one with the range that most of the texts keep to."""
    nodes = [node for node in model.graph.node if node.op_type == "DynamicQuantizeLinear"]
    extremes = _extremes(model, list(dict.fromkeys(node.input[0] for node in nodes)), texts)
    for node in nodes:
        values, [quantized, scale, zero] = node.input[0], list(node.output)
        low = min(0.0, float(np.percentile(extremes[values][0], OUTLIERS)))
        high = max(0.0, float(np.percentile(extremes[values][1], 100 - OUTLIERS)))
        step = np.float32((high - low) / 255)
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(step), scale))
        model.graph.initializer.append(
            numpy_helper.from_array(np.asarray(np.uint8(round(-low / step))), zero)
        )
        fixed = helper.make_node("QuantizeLinear", [values, scale, zero], [quantized], name=node.name)
        node.CopyFrom(fixed)


def _fuse_products(model: onnx.ModelProto) -> None:
    """Make one operator of each product, its conversion to a float, its scaling and its bias.

    onnxruntime does this by itself only where ranges are measured while labelling. The results are the
    same to the bit, and a text takes a tenth less time.
    """
    graph = model.graph
    constants = {tensor.name: tensor for tensor in graph.initializer}
    takers = defaultdict(list)
    for node in graph.node:
        for name in node.input:
            takers[name].append(node)
    makers = {name: node for node in graph.node for name in node.output}
    for product in [node for node in graph.node if node.op_type == "MatMulInteger"]:
        [converted] = takers[product.output[0]]
        [scaled] = takers[converted.output[0]]
        [scales] = [makers[name] for name in scaled.input if name != converted.output[0]]
        assert [node.op_type for node in (converted, scaled, scales)] == ["Cast", "Mul", "Mul"]
        of_text, of_weights = sorted(scales.input, key=lambda name: np.prod(constants[name].dims))
        replaced, bias = [product, converted, scaled], ""
        for taker in takers[scaled.output[0]]:
            [added] = [name for name in taker.input if name != scaled.output[0]] or [""]
            if taker.op_type == "Add" and added in constants and len(constants[added].dims) == 1:
                replaced, bias = [*replaced, taker], added
        graph.node.insert(
            list(graph.node).index(product),
            helper.make_node(
                "MatMulIntegerToFloat",
                [*product.input[:2], of_text, of_weights, *product.input[2:], bias],
                [replaced[-1].output[0]],
                name=product.name,
                domain="com.microsoft",
            ),
        )
        for node in replaced:
            graph.node.remove(node)
        # One product of scales may serve several: queries, keys and values have the same input.
        if scales in graph.node and not any(scales.output[0] in node.input for node in graph.node):
            graph.node.remove(scales)
    if all(known.domain != "com.microsoft" for known in model.opset_import):
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))


def _extremes(
    model: onnx.ModelProto, names: list[str], texts: list[list[int]]
) -> dict[str, tuple[list[float], list[float]]]:
    """Return the least and greatest of each named tensor's values, text by text."""
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    watched.graph.output.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names
    )
    session = onnxruntime.InferenceSession(watched.SerializeToString(), providers=["CPUExecutionProvider"])
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in names}
    for ids in texts:
        fed = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64)}
        for name, values in zip(names, session.run(names, fed), strict=True):
            found[name][0].append(float(values.min()))
            found[name][1].append(float(values.max()))
    return found


def write_tokenizer(out: Path) -> None:
    """Write the tokenizer without padding: padded to a fixed length, every text comes out neutral."""
    content = json.loads((base() / "tokenizer.json").read_text("utf-8"))
    content["padding"] = None
    content["truncation"] = None
    out.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), "utf-8")


if __name__ == "__main__":
    main()
