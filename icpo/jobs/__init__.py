"""Jobs: wiring only. Each is a frozen value built from conf/job/NAME.yaml."""
