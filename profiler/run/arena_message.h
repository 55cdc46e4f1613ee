// A protobuf message that contains a map. It is on an arena, because no destructors of its parts
// are called there: the destructor of a map crashes if an allocation failed while the map grew.
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
