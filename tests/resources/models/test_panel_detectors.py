"""Panel detectors with weights: the same finders under another role, and Magi, whose code comes with its weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pipelines.errors import SettingsError
from tests.resources.models.pictures import load, page

TORCH = "torch is not installed: it comes with the extra `vision`"

CODE = '''
import numpy as np, torch
from transformers import PretrainedConfig, PreTrainedModel

class PageConfig(PretrainedConfig):
    model_type = "page_finder"

class PageModel(PreTrainedModel):
    """Answers as Magi does: boxes of the dark part of a page."""
    config_class = PageConfig

    def __init__(self, config):
        super().__init__(config)
        self.bound = torch.nn.Parameter(torch.tensor(128.0))
        self.post_init()

    def predict_detections_and_associations(self, images, panel_detection_threshold=0.2):
        found = []
        for image in images:
            assert (image[..., 0] == image[..., 2]).all(), "Magi sees grey pictures"
            ys, xs = np.nonzero(image[..., 0] < float(self.bound))
            whole = [float(xs.min()) - 9, float(ys.min()), float(xs.max()) + 1, float(ys.max()) + 1]
            panels = [whole] if panel_detection_threshold < 0.9 else []
            found.append({"panels": panels, "texts": [[1, 2, 30, 40]], "characters": []})
        return found
'''


@pytest.fixture(scope="module")
def magi_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch = pytest.importorskip("torch", reason=TORCH)
    pytest.importorskip("transformers", reason="transformers is not installed: it comes with the extra `vision`")
    from safetensors.torch import save_file

    folder = tmp_path_factory.mktemp("magi")
    (folder / "page_finder.py").write_text(CODE)
    names = {"AutoConfig": "page_finder.PageConfig", "AutoModel": "page_finder.PageModel"}
    (folder / "config.json").write_text(json.dumps({"model_type": "page_finder", "auto_map": names}))
    save_file({"bound": torch.tensor(100.0)}, folder / "model.safetensors", {"format": "pt"})
    return folder


def test_magis_code_is_run_only_where_the_profile_says_so(
    magi_folder: Path, real_data: Path, monkeypatch, tmp_path
) -> None:
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path))
    with pytest.raises(SettingsError, match=r"runs code that comes with its weights.*remote_code: true"):
        load("panel_detector", "magi", magi_folder)
    picture = page(real_data, 1)
    detector = load("panel_detector", "magi", magi_folder, remote_code=True)
    found = detector.detect([picture, picture[:300]])
    assert [len(panels) for panels in found] == [1, 1] and detector.detect([picture]) == found[:1]
    (panel,) = found[0]
    assert panel.box == panel.box.clipped(picture.shape[1], picture.shape[0]) and panel.confidence == 1
    strict = {"panel_detection_threshold": 0.95}
    assert load("panel_detector", "magi", magi_folder, remote_code=True, thresholds=strict).detect([picture]) == [[]]


def test_changed_code_is_other_weights(magi_folder: Path) -> None:
    from tests.resources.models.pictures import own

    before = own(magi_folder)[0]["sha256"]
    extra = magi_folder / "more.py"
    extra.write_text("")
    try:
        assert own(magi_folder)[0]["sha256"] != before
    finally:
        extra.unlink()


def test_panels_by_torchvision_with_classes_of_ones_own(tmp_path: Path, real_data: Path) -> None:
    torch = pytest.importorskip("torch", reason=TORCH)
    detection = pytest.importorskip("torchvision.models.detection", reason=TORCH)
    torch.manual_seed(4)
    network = detection.fasterrcnn_resnet50_fpn_v2(weights=None, weights_backbone=None, num_classes=3)
    torch.save({"model": network.state_dict()}, tmp_path / "panels.pth")
    detector = load(
        "panel_detector", "torchvision", tmp_path / "panels.pth", network="fasterrcnn_resnet50_fpn_v2",
        names=["frame", "balloon"], classes={"panel": "frame", "text": "balloon"}, threshold=0.0, side=96,
    )  # fmt: skip
    (panels,) = detector.detect([page(real_data, 1)[:300, :300]])
    assert panels and all(len(panel.polygon) == 4 and 0 <= panel.confidence <= 1 for panel in panels)


def test_panels_by_yolox_need_the_names_of_its_classes(real_models: Path) -> None:
    weights = real_models / "yolox_nano_coco.onnx"
    with pytest.raises(SettingsError, match="names"):
        load("panel_detector", "yolox", weights)
    names = [f"class {number}" for number in range(80)]
    detector = load("panel_detector", "yolox", weights, names=names, classes={"panel": names}, threshold=0.05)
    assert len(detector.detect([np.zeros((90, 90, 3), np.uint8)])) == 1
