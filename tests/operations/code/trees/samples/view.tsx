type Props = { name: string };
export function View({ name }: Props) { return <b>{name}</b>; }
export const Other: FC<Props> = (props) => <View {...props} />;
