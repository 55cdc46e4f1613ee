import torch, torchvision
torch.manual_seed(0)
model = torchvision.models.resnet50().cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
loss_fn = torch.nn.CrossEntropyLoss()
for i in range(4):
    x = torch.randn(32, 3, 224, 224).cuda()
    y = torch.randint(0, 1000, (32,)).cuda()
    opt.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    opt.step()
torch.cuda.synchronize()
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
