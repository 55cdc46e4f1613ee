"""Hugging Face's unmodified Seq2SeqTrainer on T5-small: labels padded with -100, generation during
evaluation; with --adafactor, Adafactor."""
import argparse
import tempfile

import torch
from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, T5Config, T5ForConditionalGeneration


class Pairs(torch.utils.data.Dataset):
    def __init__(self, count, source, target):
        self.count, self.source, self.target = count, source, target

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        labels = torch.randint(2, 32000, (self.target,))
        labels[self.target - index % 8:] = -100
        return {"input_ids": torch.randint(2, 32000, (self.source,)), "attention_mask": torch.ones(self.source, dtype=torch.long), "labels": labels}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adafactor", action="store_true")
    parser.add_argument("--steps", type=int, default=4)
    arguments = parser.parse_args()
    model = T5ForConditionalGeneration(T5Config(decoder_start_token_id=0))
    with tempfile.TemporaryDirectory() as folder:
        Seq2SeqTrainer(
            model=model,
            args=Seq2SeqTrainingArguments(output_dir=folder, per_device_train_batch_size=8, per_device_eval_batch_size=8, max_steps=arguments.steps,
                                          optim="adafactor" if arguments.adafactor else "adamw_torch", logging_steps=1, eval_strategy="steps",
                                          eval_steps=1, predict_with_generate=True, generation_max_length=16, report_to=[],
                                          save_strategy="no"),
            train_dataset=Pairs(64, 256, 64),
            eval_dataset=Pairs(8, 256, 64),
        ).train()


if __name__ == "__main__":
    main()
