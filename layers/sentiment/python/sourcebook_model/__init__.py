"""The files of the sentiment model: `model.onnx` and `tokenizer.json`. docs/model-card.md describes them."""
