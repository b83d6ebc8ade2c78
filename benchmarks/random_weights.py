"""Networks with random weights, written as their makers publish them: for speed, which does not hang on what they know.

What does not belong here: how they are read (`resources/models`).
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

_SEED = 3


def torchvision_weights(folder: Path, builder: str = "fasterrcnn_resnet50_fpn", classes: int = 91) -> Path:
    """A Faster R-CNN of torchvision with so many classes, the background among them."""
    torch = _seeded()
    network = getattr(import_module("torchvision.models.detection"), builder)(
        weights=None, weights_backbone=None, num_classes=classes
    )
    path = folder / f"{builder}.pth"
    torch.save(network.state_dict(), path)
    return path


def yolo_weights(folder: Path, names: list[str], network: str = "yolo11n.yaml") -> Path:
    """A YOLO as a training run of ultralytics saves it."""
    torch = _seeded()
    os.environ.setdefault("YOLO_OFFLINE", "1")
    os.environ.setdefault("YOLO_VERBOSE", "false")
    model = import_module("ultralytics.nn.tasks").DetectionModel(network, nc=len(names), verbose=False)
    model.names = dict(enumerate(names))
    path = folder / network.replace(".yaml", ".pt")
    torch.save({"epoch": -1, "model": model.half(), "ema": None, "train_args": {}, "version": "8.4"}, path)
    return path


def osnet_weights(folder: Path, network: str = "osnet_x1_0") -> Path:
    """An OSNet as torchreid's training saves it, with the classifier of its training data."""
    torch = _seeded()
    model = getattr(import_module("torchreid.reid.models.osnet"), network)(num_classes=751, pretrained=False)
    path = folder / f"{network}.pth.tar"
    torch.save({"state_dict": {f"module.{k}": v for k, v in model.state_dict().items()}, "epoch": 60}, path)
    return path


def owlv2_folder(folder: Path, **vision: Any) -> Path:
    """An OWLv2 as the hub has it, of the size of base, or a tiny one with `hidden_size` and the rest said otherwise.

    Its tokenizer knows single letters alone.
    """
    torch, transformers = _seeded(), import_module("transformers")
    letters = [letter + end for letter in "abcdefghijklmnopqrstuvwxyz" for end in ("", "</w>")]
    words = ["!", "<|startoftext|>", "<|endoftext|>", *letters]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = transformers.CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=40)
    side = vision.setdefault("image_size", 960)
    processor = transformers.Owlv2ImageProcessor(size={"height": side, "width": side})
    transformers.Owlv2Processor(image_processor=processor, tokenizer=tokenizer).save_pretrained(folder)
    text = {"vocab_size": len(words), "max_position_embeddings": 40, "bos_token_id": 1, "eos_token_id": 2}
    if "hidden_size" in vision:
        shared = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
        text |= {name: vision[name] for name in shared if name in vision}
    config = transformers.Owlv2Config(
        text_config=text, vision_config={"patch_size": 16} | vision, projection_dim=text.get("hidden_size", 512)
    )
    transformers.Owlv2ForObjectDetection(config).save_pretrained(folder)
    torch.manual_seed(_SEED)
    return folder


def _seeded() -> Any:
    torch = import_module("torch")
    torch.manual_seed(_SEED)
    return torch
