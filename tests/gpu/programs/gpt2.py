import torch
from transformers import GPT2Config, GPT2LMHeadModel
torch.manual_seed(0)
c = GPT2Config(); c.use_cache = False
model = GPT2LMHeadModel(c).cuda().train()
opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
for i in range(4):
    ids = torch.randint(0, c.vocab_size, (8, 512)).cuda()
    with torch.autocast("cuda", torch.bfloat16):
        loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    opt.step()
    opt.zero_grad()
    print(i, float(loss))
torch.cuda.synchronize()
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
