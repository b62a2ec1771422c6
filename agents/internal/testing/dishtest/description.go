package dishtest

// Description is a dish's as tests make it: messages in one file, the service in another that needs it.
var Description = []string{`
name: "messages.proto" package: "SpaceX.API.Device" syntax: "proto3"
message_type { name: "GetStatusRequest" } message_type { name: "GetHistoryRequest" } message_type { name: "RebootRequest" }
message_type { name: "Request" oneof_decl { name: "request" }
  field { name: "get_status" number: 1004
    label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".SpaceX.API.Device.GetStatusRequest" oneof_index: 0 }
  field { name: "get_history" number: 1007
    label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".SpaceX.API.Device.GetHistoryRequest" oneof_index: 0 }
  field { name: "reboot" number: 1001
    label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".SpaceX.API.Device.RebootRequest" oneof_index: 0 } }
message_type { name: "Obstruction"
  field { name: "fraction_obstructed" number: 1 label: LABEL_OPTIONAL type: TYPE_FLOAT }
  field { name: "currently_obstructed" number: 5 label: LABEL_OPTIONAL type: TYPE_BOOL } }
message_type { name: "State" field { name: "uptime_s" number: 1 label: LABEL_OPTIONAL type: TYPE_UINT64 } }
message_type { name: "Status"
  field { name: "obstruction_stats" number: 1004 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".SpaceX.API.Device.Obstruction" }
  field { name: "device_state" number: 2 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".SpaceX.API.Device.State" }
  field { name: "pop_ping_latency_ms" number: 1009 label: LABEL_OPTIONAL type: TYPE_FLOAT }
  field { name: "downlink_throughput_bps" number: 1007 label: LABEL_OPTIONAL type: TYPE_STRING }
  field { name: "of_tomorrow" number: 9999 label: LABEL_OPTIONAL type: TYPE_FLOAT } }
message_type { name: "Outage"
  field { name: "start_timestamp_ns" number: 2 label: LABEL_OPTIONAL type: TYPE_INT64 }
  field { name: "duration_ns" number: 3 label: LABEL_OPTIONAL type: TYPE_UINT64 } }
message_type { name: "History"
  field { name: "current" number: 1 label: LABEL_OPTIONAL type: TYPE_UINT64 }
  field { name: "pop_ping_drop_rate" number: 1001 label: LABEL_REPEATED type: TYPE_FLOAT }
  field { name: "pop_ping_latency_ms" number: 1002 label: LABEL_REPEATED type: TYPE_FLOAT }
  field { name: "outages" number: 1010 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".SpaceX.API.Device.Outage" } }
message_type { name: "Response" oneof_decl { name: "response" }
  field { name: "dish_get_status" number: 2004
    label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".SpaceX.API.Device.Status" oneof_index: 0 }
  field { name: "dish_get_history" number: 2006
    label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".SpaceX.API.Device.History" oneof_index: 0 } }
`, `
name: "device.proto" package: "SpaceX.API.Device" syntax: "proto3" dependency: "messages.proto"
service { name: "Device" method { name: "Handle" input_type: ".SpaceX.API.Device.Request" output_type: ".SpaceX.API.Device.Response" } }
`}
