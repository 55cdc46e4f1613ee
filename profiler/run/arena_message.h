// A protobuf message that contains a map. If an allocation fails while a map grows, the map's
// destructor crashes. On an arena, no destructor of a part of the message is called.
//
//   ArenaMessage<proto::RunConfig> message;
//   (*message->mutable_settings())["seq"] = "16";
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>

namespace vramscope::run {

template <class Message>
class ArenaMessage {
 public:
  ArenaMessage() : message_(Make(&arena_)) {}
  ArenaMessage(const ArenaMessage&) = delete;
  ArenaMessage& operator=(const ArenaMessage&) = delete;

  Message& operator*() const { return *message_; }
  Message* operator->() const { return message_; }

 private:
  static Message* Make(google::protobuf::Arena* arena) {
#if GOOGLE_PROTOBUF_VERSION < 5000000
    return google::protobuf::Arena::CreateMessage<Message>(arena);
#else
    return google::protobuf::Arena::Create<Message>(arena);
#endif
  }

  google::protobuf::Arena arena_;
  Message* message_;
};

}  // namespace vramscope::run
