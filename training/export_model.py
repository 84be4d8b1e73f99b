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
from transformers import PreTrainedConfig

from training.calibrate import PACKAGE, PIN, fit_target_temperature, fit_temperature
from training.epochs import lessons
from training.network import (
    MAX_TOKENS,
    Marked,
    SentimentNetwork,
    base,
    encode,
    encode_targets,
    tokenizer,
)

CALIBRATION_TEXTS = 800
OUTLIERS = 1
"""Percentage of texts that may exceed a range at each end; they are clipped."""


def main() -> None:
    """Export, quantize, and pin."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path, nargs="+", help="of several their mean is exported")
    parser.add_argument("--version", default="1")
    parser.add_argument("--out", type=Path, default=PACKAGE)
    parser.add_argument("--pin", type=Path, default=PIN)
    parser.add_argument("--companion", type=float, default=0.3, help="weight of the n-grams' opinion")
    parser.add_argument("--target-companion", type=float, default=0.15, help="the same for targets")
    chosen = parser.parse_args()

    network = SentimentNetwork()
    network.load_state_dict(mean_of([torch.load(path, weights_only=True) for path in chosen.weights]))
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
        "temperature": 1.0,
        "companion": chosen.companion,
        "target_temperature": 1.0,
        "target_companion": chosen.target_companion,
    }
    pin["temperature"] = fit_temperature(chosen.out, pin)
    pin["target_temperature"] = fit_target_temperature(chosen.out, pin)
    chosen.pin.write_text(json.dumps(pin, indent=2) + "\n", "utf-8")
    print(json.dumps(pin, indent=2))


def mean_of(weights: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Return the mean of weights that come from one start; it often does better than each of them."""
    return {name: torch.stack([one[name] for one in weights]).mean(0) for name in weights[0]}


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
        ids = torch.tensor([[101, 2023, 2003, 102], [101, 2003, 2023, 102]])
        rows, masks = torch.tensor([0, 1, 1]), torch.tensor([[0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])
        torch.onnx.export(
            network,
            (ids, torch.ones_like(ids), rows[:2], rows, masks),
            full,
            input_names=["input_ids", "attention_mask", "text_rows", "target_rows", "target_masks"],
            output_names=["logits", "target_logits"],
            dynamic_axes={
                "input_ids": {0: "rows", 1: "tokens"},
                "attention_mask": {0: "rows", 1: "tokens"},
                "text_rows": {0: "texts"},
                "target_rows": {0: "targets"},
                "target_masks": {0: "targets", 1: "tokens"},
                "logits": {0: "texts"},
                "target_logits": {0: "targets"},
            },
            opset_version=17,
            dynamo=False,
        )
        _take_none(full, network.encoder.config)
        quantize_dynamic(full, measured, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8)
        graph = onnx.load(measured)
    _fix_ranges(graph, _calibration_texts())
    _fuse_products(graph)
    graph.doc_string = "sourcebook sentiment: logits of negative, neutral, positive"
    graph.producer_name = "sourcebook"
    onnx.save(graph, out)


def _take_none(path: Path, config: PreTrainedConfig) -> None:
    """Say in numbers what reshaping is to infer, which it cannot where there is no text or no target."""
    model = onnx.load(path)
    makers = {name: node for node in model.graph.node for name in node.output}
    width = config.hidden_size // config.num_attention_heads
    for reshape in [node for node in model.graph.node if node.op_type == "Reshape"]:
        shape = makers.get(reshape.input[1])
        if shape is None or shape.op_type != "Concat":
            continue
        parts = [makers.get(name) for name in shape.input]
        values = [_value(part) for part in parts]
        if -1 in values:
            inferred = config.num_attention_heads if values[-1] == width else config.hidden_size
            given = helper.make_node(
                "Constant",
                [],
                [f"{shape.output[0]}_given"],
                value=numpy_helper.from_array(np.array([inferred], np.int64)),
            )
            shape.input[values.index(-1)] = given.output[0]
            model.graph.node.insert(list(model.graph.node).index(shape), given)
    onnx.save(model, path)


def _value(node: onnx.NodeProto | None) -> int | None:
    """Return the one number that a constant node holds; None if it is another node."""
    if node is None or node.op_type != "Constant":
        return None
    values = numpy_helper.to_array(node.attribute[0].t).reshape(-1)
    return int(values[0]) if len(values) == 1 else None


def _calibration_texts() -> list[Marked]:
    """Return texts to be judged as a whole, whose mask is empty, and texts with targets."""
    drawn, words = lessons(0), tokenizer(MAX_TOKENS)
    texts = encode([one.text for one in drawn if one.label is not None][:CALIBRATION_TEXTS], words)
    targets = [target.target for one in drawn for target in one.targets][:CALIBRATION_TEXTS]
    marked = [one for one in encode_targets(targets, words) if any(one.mask)]
    return [Marked(ids, []) for ids in texts] + marked


def _fix_ranges(model: onnx.ModelProto, texts: list[Marked]) -> None:
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
    model: onnx.ModelProto, names: list[str], texts: list[Marked]
) -> dict[str, tuple[list[float], list[float]]]:
    """Return the least and greatest of each named tensor's values, text by text.

    What texts and targets have in common is measured by texts alone: what is learnt about targets changes
    nothing about texts.
    """
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    watched.graph.output.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names
    )
    session = onnxruntime.InferenceSession(watched.SerializeToString(), providers=["CPUExecutionProvider"])
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in names}
    names_of_texts: set[str] | None = None
    for one in sorted(texts, key=lambda one: bool(one.mask)):
        size = len(one.ids)
        rows = np.zeros(1, np.int64)
        fed = {
            "input_ids": np.array([one.ids]),
            "attention_mask": np.ones((1, size), np.int64),
            "text_rows": rows[: 0 if one.mask else 1],
            "target_rows": rows[: 1 if one.mask else 0],
            "target_masks": np.array([one.mask] if one.mask else [], np.int64).reshape(-1, size),
        }
        if one.mask and names_of_texts is None:
            names_of_texts = {name for name in names if found[name][0]}
        for name, values in zip(names, session.run(names, fed), strict=True):
            if values.size and name not in (names_of_texts or ()):
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
