// A library that needs as much static thread-local storage as jemalloc 5.3.
namespace {

[[gnu::tls_model("initial-exec")]] thread_local volatile char storage[0xa48];

}  // namespace

extern "C" __attribute__((visibility("default"))) char vramscope_test_static_tls() {
  storage[0] = 1;
  return storage[0];
}
