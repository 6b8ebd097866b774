-- What this room does for others. Runs of CRUD are facts that people wrote.

INSERT INTO omd.room_hook (hook, for_code, room, routine, position)
VALUES
('BEGIN_RUN', 'FACTS', 'omd_facts', 'omd_facts.begin_run', 20),
('END_RUN', 'FACTS', 'omd_facts', 'omd_facts.end_run', 20),
('NEXT_ACT', 'FACTS', 'omd_facts', 'omd_facts.next_load', 20),
('NEXT_ACT', 'EXPORT', 'omd_facts', 'omd_facts.next_export', 20),
('UNDO_RUNS', 'FACTS', 'omd_facts', 'omd_facts.undo_runs', 20),
('UNDO_RUNS', 'EXPORT', 'omd_facts', 'omd_facts.undo_runs', 20),
('SHOW_BLOCK', 'FACTS', 'omd_facts', 'omd_facts.show_block', 20),
('MAY_END', 'FACTS', 'omd_facts', 'omd_facts.may_end', 20),
('PLAN_BLOCK', 'FACTS', 'omd_facts', 'omd_facts.plan_changes', 20),
('NEXT_POSITION', 'FACTS', 'omd_facts', 'omd_facts.next_change', 20),
('BLOCK_VIEW', 'FACTS', 'omd_facts', 'omd_facts.changes_view', 20),
('POSITION_AT', 'FACTS', 'omd_facts', 'omd_facts.change_at', 20),
('READ_BOUND', 'gdal\_%', 'omd_facts', 'omd_facts.read_bound', 20),
('READ_BOUND', 'asof\_%', 'omd_facts', 'omd_facts.read_bound', 20),
('READ_BOUND', 'history\_%', 'omd_facts', 'omd_facts.read_bound', 20),
('READ_BOUND', 'changes\_%', 'omd_facts', 'omd_facts.read_bound', 20),
('READ_BOUND', 'cfl\_%', 'omd_facts', 'omd_facts.read_bound', 20),
('STANDS_FOR', 'gdal\_%', 'omd_facts', 'omd_facts.stands_for', 20),
('STANDS_FOR', 'asof\_%', 'omd_facts', 'omd_facts.stands_for', 20),
('STANDS_FOR', 'history\_%', 'omd_facts', 'omd_facts.stands_for', 20),
('STANDS_FOR', 'changes\_%', 'omd_facts', 'omd_facts.stands_for', 20),
('STANDS_FOR', 'cfl\_%', 'omd_facts', 'omd_facts.stands_for', 20),
('EQUIP_AGREEMENT', 'GDAL', 'omd_facts', 'omd_facts.equip_agreement', 20),
('EQUIP_AGREEMENT', 'EXPORT', 'omd_facts', 'omd_facts.equip_agreement', 20),
('RECALL_FOLLOWS', '', 'omd_facts', 'omd_facts.recall_follows', 20),
('RECALL_EFFECTS_OWN', '', 'omd_facts', 'omd_facts.recall_effects', 20),
('RECALL_LOCKS', '', 'omd_facts', 'omd_facts.recall_locks', 20),
('TAKE_BACK_OWN', 'FACTS %', 'omd_facts', 'omd_facts.take_back', 20),
('TAKE_BACK_OWN', 'PART gdal.%', 'omd_facts', 'omd_facts.take_back', 20),
('ERASE', '', 'omd_facts', 'omd_facts.erase_keys', 20)
ON CONFLICT (hook, for_code, room) DO UPDATE SET
    routine = excluded.routine,
    position = excluded.position;
