"""Writes the Parquet tables of this folder: the sequences of text_tokens.jsonl as pandas and Polars write them, and next
tokens of an ensemble by a rule that the tests know. Pages have checksums but for those of Polars, which writes none.

    pip install pandas polars pyarrow
    python3 validation/data/make_parquet.py
"""

import base64
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

HERE = Path(__file__).parent


def texts() -> None:
    """One table by each writer, with what each does by default but for checksums; several groups of rows in one."""
    lines = [json.loads(line) for line in (HERE / "text_tokens.jsonl").read_text().splitlines()]
    frame = pd.DataFrame(lines)
    frame.to_parquet(HERE / "text_tokens.parquet", index=False, write_page_checksum=True)
    table = pl.DataFrame(lines, infer_schema_length=None)
    table.write_parquet(HERE / "text_tokens_polars.parquet", row_group_size=50)


def tokens() -> None:
    """12 positions, 4 members, a spare, 9 tokens: logits are ((7 p + 3 m + 5 t) mod 11 - 5)/4, those of the spare and of
    the public model with m = 4 and 5. Positions 8 to 11 are those of two planted sequences."""
    positions, members, count = 12, 4, 9
    p, m, t = np.ogrid[:positions, : members + 2, :count]
    logits = (((7 * p + 3 * m + 5 * t) % 11) - 5) / 4
    answered = [(2 * position) % count for position in range(positions)]
    canary = [None] * 8 + [0, 0, 1, 1]
    planted = [None] * 8 + [2, 2, 0, 0]
    for kind, name in [(pa.float32(), "next_tokens.parquet"), (pa.float16(), "next_tokens_half.parquet")]:
        dtype = np.float16 if kind == pa.float16() else np.float32
        values = logits.astype(dtype)
        column = lambda models: pa.array(
            [[list(row) for row in position] for position in models], type=pa.list_(pa.list_(kind))
        )
        table = pa.table(
            {
                "logits": column(values[:, :members]),
                "spare_logits": column(values[:, members : members + 1]),
                "public_logits": pa.array([list(row) for row in values[:, members + 1]], type=pa.list_(kind)),
                "tokens": pa.array(answered, type=pa.int32()),
                "canary": pa.array(canary, type=pa.int64()),
                "planted": pa.array(planted, type=pa.int8()),
                "note": pa.array([{"page": position} for position in range(positions)]),
            }
        )
        compression = "gzip" if kind == pa.float16() else "snappy"
        pq.write_table(table, HERE / name, row_group_size=5, compression=compression, write_page_checksum=True)


def transcripts() -> None:
    """8 positions, 2 members, 9 tokens, with logits by the rule of `tokens`; transcript i of ensemble e has the token
    (p + 2 e + i i) mod 9 at position p."""
    p, m, t = np.ogrid[:8, :2, :9]
    logits = ((((7 * p + 3 * m + 5 * t) % 11) - 5) / 4).astype(np.float32)
    p, e, i = np.ogrid[:8, :3, :120]
    again = (p + 2 * e + i * i) % 9
    column = lambda values, kind: pa.array(values.tolist(), type=pa.list_(pa.list_(kind)))
    table = pa.table({"logits": column(logits, pa.float32()), "transcripts": column(again, pa.uint16())})
    pq.write_table(table, HERE / "transcripts.parquet", row_group_size=3, compression="zstd", write_page_checksum=True)


def unread() -> None:
    """Tables that are not read: compressed by Brotli, and encrypted."""
    texts = [{"log_probabilities": [-1.0, -2.0], "member": member} for member in (True, False)]
    table = pa.Table.from_pylist(texts)
    pq.write_table(table, HERE / "brotli.parquet", compression="brotli", write_page_checksum=True)

    class Keys(pe.KmsClient):
        """The keys are in the file: nothing here is secret."""

        def wrap_key(self, key: bytes, master: str) -> bytes:
            return base64.b64encode(key)

    configuration = pe.EncryptionConfiguration(footer_key="a", column_keys={"b": ["log_probabilities.list.element"]})
    properties = pe.CryptoFactory(lambda _: Keys()).file_encryption_properties(pe.KmsConnectionConfig(), configuration)
    with pq.ParquetWriter(HERE / "encrypted.parquet", table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)


if __name__ == "__main__":
    texts()
    tokens()
    transcripts()
    unread()
