"""Hugging Face's unmodified Trainer on BERT-base for sequence classification: fp16 with a GradScaler, lengths that differ
from batch to batch, metrics, and the best checkpoint loaded at the end."""
import argparse
import tempfile

import numpy
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Reviews(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        length = 64 + 16 * (index % 9)
        return {"input_ids": torch.randint(1000, 30000, (length,)), "labels": index % 3}


def collate(rows):
    longest = max(len(row["input_ids"]) for row in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, :len(row["input_ids"])] = row["input_ids"]
        mask[i, :len(row["input_ids"])] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([row["labels"] for row in rows])}


def accuracy(predictions):
    return {"accuracy": float((numpy.argmax(predictions.predictions, axis=-1) == predictions.label_ids).mean())}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=4)
    arguments = parser.parse_args()
    model = BertForSequenceClassification(BertConfig(num_labels=3))
    with tempfile.TemporaryDirectory() as folder:
        Trainer(
            model=model,
            args=TrainingArguments(output_dir=folder, per_device_train_batch_size=16, max_steps=arguments.steps, fp16=True, logging_steps=1,
                                   eval_strategy="steps", eval_steps=1, save_strategy="steps", save_steps=1, load_best_model_at_end=True,
                                   metric_for_best_model="accuracy", report_to=[], warmup_steps=1, weight_decay=0.01),
            data_collator=collate,
            train_dataset=Reviews(128),
            eval_dataset=Reviews(32),
            compute_metrics=accuracy,
        ).train()


if __name__ == "__main__":
    main()
