"""GRPO on IFStruct with TRL, rewarded by `maskwright ifstruct reward`. See README.md.

    python grpo.py --model Qwen/Qwen3-0.6B --train train.jsonl --test test.jsonl --out trained
"""

import argparse
from pathlib import Path

from reward import IfstructReward
from samples import check_apart, read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="hub id or directory of the model to start from")
    parser.add_argument("--train", type=Path, required=True, help="samples of the train split")
    parser.add_argument("--test", type=Path, required=True, help="samples of the test split, which are only looked at for schemas in both")
    parser.add_argument("--out", required=True, help="directory of checkpoints and of the trained model")
    parser.add_argument("--program", default="maskwright", help="the program maskwright")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--group", type=int, default=8, help="replies to each request")
    parser.add_argument("--max-tokens", type=int, default=1024, help="tokens of a reply, at most")
    parser.add_argument("--learning-rate", type=float, default=1e-6)
    parser.add_argument("--kl", type=float, default=0.02, help="weight of the divergence from the start")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    train, test = read(arguments.train), read(arguments.test)
    check_apart(train, test)

    # Only now, as these take long to load.
    import torch
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    reward = IfstructReward(arguments.program)
    settings = GRPOConfig(
        output_dir=arguments.out,
        max_steps=arguments.steps,
        num_generations=arguments.group,
        per_device_train_batch_size=arguments.group,
        gradient_accumulation_steps=8,
        max_completion_length=arguments.max_tokens,
        # A reply that was cut off has not been said: it is left out of the loss.
        mask_truncated_completions=True,
        learning_rate=arguments.learning_rate,
        warmup_steps=arguments.steps // 10,
        beta=arguments.kl,
        max_grad_norm=1.0,
        seed=arguments.seed,
        logging_steps=1,
        save_steps=50,
        bf16=torch.cuda.is_available(),
        use_cpu=not torch.cuda.is_available(),
    )
    trainer = GRPOTrainer(
        model=arguments.model,
        reward_funcs=[reward],
        args=settings,
        train_dataset=Dataset.from_list(train),
    )
    there = any(Path(arguments.out).glob("checkpoint-*"))
    trainer.train(resume_from_checkpoint=there)
    trainer.save_model(arguments.out)
    reward.close()


if __name__ == "__main__":
    main()
